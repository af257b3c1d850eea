# A message was moved out of Junk: its reader says that it is not spam.
require ["vnd.dovecot.pipe", "copy", "imapsieve", "environment", "variables"];

# Whoever empties Junk into the bin says nothing about the message. Name your own bins here.
if environment :is :comparator "i;ascii-casemap" "imap.mailbox"
    ["Trash", "Deleted Items", "Deleted Messages", "Bin", "Papierkorb", "Corbeille", "Papelera"] {
  stop;
}

if environment :matches "imap.user" "*" {
  set "user" "${1}";
}
pipe :copy "twicetold-revoke" [ "${user}" ];
