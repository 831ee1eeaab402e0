package directory;

import ca.uhn.fhir.rest.annotation.IdParam;
import ca.uhn.fhir.rest.annotation.Read;
import ca.uhn.fhir.rest.server.IResourceProvider;
import ca.uhn.fhir.rest.server.exceptions.ResourceNotFoundException;
import org.hl7.fhir.instance.model.api.IBaseResource;
import org.hl7.fhir.r4.model.HumanName;
import org.hl7.fhir.r4.model.IdType;
import org.hl7.fhir.r4.model.Location;
import org.hl7.fhir.r4.model.Organization;
import org.hl7.fhir.r4.model.Practitioner;

final class Providers {
    static final class Practitioners implements IResourceProvider {
        private final Directory directory;
        private final LicenceCache licences;

        Practitioners(Directory directory, LicenceCache licences) {
            this.directory = directory;
            this.licences = licences;
        }

        @Override
        public Class<? extends IBaseResource> getResourceType() {
            return Practitioner.class;
        }

        @Read
        public Practitioner read(@IdParam IdType id) {
            Directory.Person person = directory.person(id.getIdPartAsLong());
            if (person == null) {
                throw new ResourceNotFoundException(id);
            }
            LicenceRegister.Licence licence = licences.of(person.id());
            Practitioner p = new Practitioner();
            p.setId(id.toUnqualifiedVersionless());
            p.setActive("valid".equals(licence.status()));
            p.addName(new HumanName().setFamily(person.family()).addGiven(person.given()));
            p.addIdentifier().setSystem("urn:chamber:licence").setValue(licence.number());
            p.addTelecom().setValue("+00 555 " + person.id() % 10000);
            return p;
        }
    }

    static final class Organizations implements IResourceProvider {
        @Override
        public Class<? extends IBaseResource> getResourceType() {
            return Organization.class;
        }

        @Read
        public Organization read(@IdParam IdType id) {
            Organization o = new Organization();
            o.setId(id.toUnqualifiedVersionless());
            o.setName("Practice " + id.getIdPart()).setActive(true);
            return o;
        }
    }

    static final class Locations implements IResourceProvider {
        @Override
        public Class<? extends IBaseResource> getResourceType() {
            return Location.class;
        }

        @Read
        public Location read(@IdParam IdType id) {
            Location l = new Location();
            l.setId(id.toUnqualifiedVersionless());
            l.setName("Site " + id.getIdPart()).setDescription("Ground floor");
            return l;
        }
    }

    private Providers() {}
}
