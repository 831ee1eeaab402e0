#!/bin/sh
# start.sh PORT TMP CACHE CASE GC_PROBABILITY
# Apache's children run as www-data, which may not be allowed to look into CACHE and CASE: the site lies below /tmp.
set -eu
port=$1 tmp=$2 cache=$3 case_=$4 probability=$5
site=/tmp/flysystem-forms-$(printf %s "$cache" | cksum | cut -d' ' -f1)
mkdir -p "$site/public" "$site/forms"
cp "$case_/public/index.php" "$site/public/index.php"
n=0
for form in passport identity-card residence marriage birth-certificate dog-tax parking-permit trade-licence \
    building-permit tree-felling street-party school-meals library-card waste-container election-letter \
    driving-licence fishing-licence rent-subsidy day-care name-change; do
    n=$((n + 1))
    { echo "Form $n: $form"; for line in 1 2 3 4 5 6 7 8 9 10 11 12; do
        echo "  $line. Please fill in this line in block letters and leave the grey fields empty."; done; } >"$site/forms/$form.txt"
done
python3 "$case_/sessions.py" "$site/sessions" 50000
chmod 755 "$site" "$site/public" "$site/forms"
chmod 1733 "$site/sessions"
chown www-data "$site/sessions"
cat >"$tmp/httpd.conf" <<EOF
ServerRoot $tmp
ServerName forms.example
Listen 127.0.0.1:$port
PidFile $tmp/httpd.pid
Mutex pthread
User www-data
Group www-data
LoadModule mpm_prefork_module /usr/lib/apache2/modules/mod_mpm_prefork.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
LoadModule php_module /usr/lib/apache2/modules/libphp8.2.so
TypesConfig /etc/mime.types
ErrorLog $tmp/error.log
LogLevel warn
StartServers 44
MinSpareServers 4
MaxSpareServers 64
ServerLimit 64
MaxRequestWorkers 64
KeepAlive On
KeepAliveTimeout 75
MaxKeepAliveRequests 0
DocumentRoot $site/public
<Directory $site/public>
    Require all granted
    FallbackResource /index.php
</Directory>
<FilesMatch "\.php\$">
    SetHandler application/x-httpd-php
</FilesMatch>
php_admin_value session.save_path "$site/sessions"
php_admin_value session.gc_probability $probability
php_admin_value session.gc_divisor 10
php_admin_value session.gc_maxlifetime 31536000
php_admin_value session.name TOWNHALL
EOF
export FORMS_DIR="$site/forms"
exec apache2 -f "$tmp/httpd.conf" -DFOREGROUND
