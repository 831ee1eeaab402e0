/* part.cgi: the page of one part */
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  const char *q = getenv("QUERY_STRING");
  int id = q ? atoi(q) : 0;
  printf("Content-Type: text/html\r\n\r\n<html><head><title>Part %d</title></head><body><h1>Part %d</h1><table>\n", id, id);
  for (int i = 1; i <= 40; i++) printf("<tr><td>fits model %d</td><td>%d mm</td></tr>\n", (id * 31 + i * 17) % 900, (id + i * 13) % 400);
  puts("</table></body></html>");
  return 0;
}
