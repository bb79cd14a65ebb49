"""The bufferbloat report: a long transfer, a ping and a page at one slow link."""
