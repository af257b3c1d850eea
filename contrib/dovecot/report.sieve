# A message was moved into Junk: its reader says that it is spam.
require ["vnd.dovecot.pipe", "copy", "imapsieve", "environment", "variables"];

if environment :matches "imap.user" "*" {
  set "user" "${1}";
}
pipe :copy "twicetold-report" [ "${user}" ];
