import difflib
print(difflib.get_close_matches("appel", ["ape", "apple", "peach"]), round(difflib.SequenceMatcher(None, "abcd", "bcde").ratio(), 3), "\n".join(difflib.unified_diff(["a", "b"], ["a", "c"], lineterm="")), list(difflib.ndiff(["a"], ["b"])))
