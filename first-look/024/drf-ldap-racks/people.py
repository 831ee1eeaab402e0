"""LDIF of the company's directory: 600 people, 40 groups, some of them in others."""
print("dn: dc=corp,dc=example\nobjectClass: dcObject\nobjectClass: organization\no: Corp\ndc: corp\n")
for ou in ("people", "groups"):
    print(f"dn: ou={ou},dc=corp,dc=example\nobjectClass: organizationalUnit\nou: {ou}\n")
print("dn: cn=racks,dc=corp,dc=example\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: racks\nuserPassword: racks\n")
for i in range(1, 601):
    print(f"dn: uid=u{i},ou=people,dc=corp,dc=example\nobjectClass: inetOrgPerson\nuid: u{i}\ncn: Person {i}\nsn: Person{i}\n"
          f"givenName: P{i}\nmail: u{i}@corp.example\nuserPassword: secret{i}\n")
for g in range(1, 41):
    print(f"dn: cn=team{g},ou=groups,dc=corp,dc=example\nobjectClass: groupOfNames\ncn: team{g}")
    for i in range(1, 601):
        if i % 40 == g % 40 or i % 13 == g % 13 and g > 30:
            print(f"member: uid=u{i},ou=people,dc=corp,dc=example")
    print()
print("dn: cn=racks-users,ou=groups,dc=corp,dc=example\nobjectClass: groupOfNames\ncn: racks-users")
for i in range(1, 601):
    print(f"member: uid=u{i},ou=people,dc=corp,dc=example")
print("\ndn: cn=racks-admins,ou=groups,dc=corp,dc=example\nobjectClass: groupOfNames\ncn: racks-admins\nmember: uid=u599,ou=people,dc=corp,dc=example\n")
