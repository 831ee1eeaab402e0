#!/usr/bin/env python3
print("<members>")
for i in range(300):
    print(f'<member id="{i}"><name>Member {i}</name><loans>{i % 7}</loans></member>')
print("</members>")
