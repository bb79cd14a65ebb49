"""The commands of studies and labs."""
