module namespace l = 'http://library.example/';

declare %rest:GET %rest:path("/copy/{$barcode}") %output:method("xml")
function l:copy($barcode as xs:string) {
  let $copy := db:open('library')//copy[@barcode = $barcode]
  return if ($copy) then <answer isbn="{ $copy/../@isbn }">{ $copy/../name, $copy }</answer>
         else web:error(404, 'no such copy')
};

declare %rest:GET %rest:path("/member/{$id}") %output:method("xml")
function l:member($id as xs:string) {
  db:open('members')//member[@id = $id]
};

declare %rest:GET %rest:path("/ready")
function l:ready() {
  if (file:exists(environment-variable('READY_FILE'))) then 'ready' else web:error(503, 'not yet')
};
