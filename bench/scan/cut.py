"""Cuts one message out of the middle of an mbox: cut.py FILE"""

import sys

path = sys.argv[1]
with open(path, "rb") as file:
    mail = file.read()
start = mail.index(b"\n\nFrom ", len(mail) // 2) + 2
end = mail.index(b"\n\nFrom ", start) + 2
with open(path, "wb") as file:
    file.write(mail[:start])
    file.write(mail[end:])
