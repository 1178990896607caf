import unicodedata
print(unicodedata.name("é"), unicodedata.normalize("NFD", "é") == "e\u0301", unicodedata.category("A"), unicodedata.lookup("SNOWMAN"), "\N{BULLET}", unicodedata.numeric("½"))
