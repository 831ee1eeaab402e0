//gsoap ns service name:      meters
//gsoap ns service style:     rpc
//gsoap ns service encoding:  literal
//gsoap ns service namespace: urn:grid:meters
//gsoap ns schema namespace:  urn:grid:meters
int ns__putReading(char *meter, LONG64 seq, double kwh, double volt, char *quality, LONG64 *receipt);
