"""The video report's capture-derived part: Veno, CUBIC and Vegas over a shaped link."""
