#!/bin/bash
# mkcerts.sh FOLDER: how pki/ was made
set -e
mkdir -p $1/pki; cd $1/pki
openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=Desk CA" -keyout ca.key -out ca.pem 2>/dev/null
for n in server client; do
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$n" -keyout $n.key -out $n.csr 2>/dev/null
done
printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\n' > server.ext
printf 'extendedKeyUsage=clientAuth\nauthorityInfoAccess=OCSP;URI:http://127.0.0.1:9/\n' > client.ext
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -set_serial 17 -days 3650 -extfile server.ext -out server.pem 2>/dev/null
openssl x509 -req -in client.csr -CA ca.pem -CAkey ca.key -set_serial 18 -days 3650 -extfile client.ext -out client.pem 2>/dev/null
printf 'V\t360101000000Z\t\t12\tunknown\t/CN=client\n' > index.txt
openssl ocsp -issuer ca.pem -cert client.pem -no_nonce -reqout req.der >/dev/null
openssl ocsp -index index.txt -CA ca.pem -rsigner ca.pem -rkey ca.key -reqin req.der -respout client.ocsp -ndays 3650 >/dev/null
