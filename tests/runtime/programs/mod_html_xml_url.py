import html, html.parser, xml.etree.ElementTree as ET, urllib.parse
from urllib.parse import urlparse, urlencode, quote
print(html.escape("<a&'\">"), html.unescape("&lt;&eacute;"))
class P(html.parser.HTMLParser):
    def __init__(self): super().__init__(); self.tags = []; self._depth = 0; self.links = []
    def handle_starttag(self, tag, attrs): self.tags.append(tag); self.links += [v for k, v in attrs if k == "href"]; self._depth += 1
    def handle_data(self, d): self.tags.append(d.strip())
p = P(); p.feed("<p>Hi <a href='u'>x</a></p>"); print(p.tags, p.links, p._depth)
r = ET.fromstring("<r a='1'><c>t</c><c k='v'/></r>"); print(r.tag, r.attrib, r.get("a"), [c.text for c in r], r.find("c").text, len(r.findall("c")), r[1].get("k"), [e.tag for e in r.iter()], ET.tostring(r))
e = ET.Element("x", id="1"); ET.SubElement(e, "y").text = "z"; ET.indent(e); print(ET.tostring(e, encoding="unicode"))
ET.ElementTree(e).write("o.xml"); print(ET.parse("o.xml").getroot().tag)
try: ET.fromstring("<bad")
except ET.ParseError as x: print(x.position)
u = urlparse("https://u:p@h.org:80/p;q?a=1&b=2#f"); print(u.netloc, u.hostname, u.port, u.query, urllib.parse.parse_qs(u.query), urlencode({"a": "b c", "d": [1, 2]}, doseq=True), quote("a b/é"), urllib.parse.unquote("%20"), urllib.parse.urljoin("http://a/b/", "../c"), u._replace(path="/x").geturl(), urllib.parse.urlsplit("//x/y").path)
