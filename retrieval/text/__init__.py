"""Pure functions of Chinese and English text. Does not know documents' storage, search, claims or judges."""
