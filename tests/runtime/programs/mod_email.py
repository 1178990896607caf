import email
import email.policy
from datetime import datetime, timezone
from email import encoders, message_from_bytes, message_from_string
from email.header import Header, decode_header, make_header
from email.headerregistry import Address
from email.message import EmailMessage
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.parser import BytesParser, Parser
from email.utils import formataddr, formatdate, format_datetime, getaddresses, make_msgid, parseaddr, parsedate_to_datetime

msg = EmailMessage()
msg["Subject"] = "Grüße from a program"
msg["From"] = Address("Pepé", "pepe", "example.com")
msg["To"] = ["a@example.com", "b@example.com"] if False else "a@example.com, B <b@example.com>"
msg.set_content("Hello\nthere\n")
msg.add_alternative("<p>Hello</p>", subtype="html")
msg.add_attachment(b"\x00\x01\x02", maintype="application", subtype="octet-stream", filename="x.bin")
text = msg.as_bytes()
print(len(text) > 500, msg.is_multipart(), msg.get_content_type())
parsed = message_from_bytes(text, policy=email.policy.default)
print(parsed["subject"], parsed["from"].addresses[0].username, [a.addr_spec for a in parsed["to"].addresses])
for part in parsed.walk():
    print(part.get_content_type(), part.get_filename())
print(repr(parsed.get_body(("plain",)).get_content()), [a.get_content() for a in parsed.iter_attachments()])
old = MIMEMultipart("mixed")
old["Subject"] = Header("Überschrift", "utf-8")
old.attach(MIMEText("body text", "plain", "utf-8"))
attachment = MIMEBase("application", "zip")
attachment.set_payload(b"PK\x03\x04")
encoders.encode_base64(attachment)
attachment.add_header("Content-Disposition", "attachment", filename="a.zip")
old.attach(attachment)
again = Parser().parsestr(old.as_string())
print([str(make_header([pair])) for pair in decode_header(again["Subject"])])
print([p.get_payload(decode=True) for p in again.get_payload()])
print(parseaddr("Joe <joe@example.com>"), formataddr(("Zoë", "z@example.com")), getaddresses(["a <a@b.c>, d@e.f"]))
print(formatdate(0), format_datetime(datetime(2024, 1, 2, tzinfo=timezone.utc)), parsedate_to_datetime("Tue, 02 Jan 2024 00:00:00 +0000"))
print(make_msgid(domain="example.com").endswith("@example.com>"))
plain = message_from_string("A: 1\nA: 2\nB: =?utf-8?q?=C3=A9?=\n\nbody\n")
print(plain.get_all("a"), plain["B"], plain.get_payload(), plain.items())
plain.replace_header("B", "new")
del plain["A"]
print(plain.as_string())
print(BytesParser(policy=email.policy.SMTP).parsebytes(b"Subject: x\r\n\r\ny")["subject"], email.policy.default.clone(max_line_length=40).max_line_length)
long = EmailMessage(policy=email.policy.default.clone(max_line_length=40))
long["Subject"] = "word " * 20
print(long.as_string())
