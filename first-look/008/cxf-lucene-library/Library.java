import com.fasterxml.jackson.jakarta.rs.json.JacksonJsonProvider;
import jakarta.ws.rs.*;
import java.util.*;
import org.apache.cxf.jaxrs.JAXRSServerFactoryBean;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.store.ByteBuffersDirectory;

@Path("/") @Produces("application/json")
public class Library {
    static IndexSearcher searcher;

    public record Hit(String title, String author, float score) {}

    static List<Hit> hits(Query q, int n) throws Exception {
        var out = new ArrayList<Hit>();
        var stored = searcher.storedFields();
        for (ScoreDoc d : searcher.search(q, n).scoreDocs) {
            Document doc = stored.document(d.doc);
            out.add(new Hit(doc.get("title"), doc.get("author"), d.score));
        }
        return out;
    }

    @GET @Path("health") @Produces("text/plain") public String health() { return "ok"; }

    @GET @Path("search/{word}") public List<Hit> search(@PathParam("word") String word) throws Exception {
        return hits(new BooleanQuery.Builder()
            .add(new PrefixQuery(new Term("text", word.substring(0, 3))), BooleanClause.Occur.SHOULD)
            .add(new TermQuery(new Term("title", word)), BooleanClause.Occur.SHOULD).build(), 20);
    }

    // the whole list of one author, for the print shop
    @GET @Path("author/{name}") public List<Hit> author(@PathParam("name") String name) throws Exception {
        return hits(new TermQuery(new Term("author", name)), 3000);
    }

    public static void main(String[] a) throws Exception {
        var dir = new ByteBuffersDirectory();
        var rnd = new Random(3);
        String[] syl = "ba lo mi ren tos va ber gil dun os kra pel sin".split(" ");
        String[] words = new String[3000];
        for (int i = 0; i < words.length; i++) words[i] = syl[rnd.nextInt(13)] + syl[rnd.nextInt(13)] + syl[rnd.nextInt(13)];
        try (var w = new IndexWriter(dir, new IndexWriterConfig(new StandardAnalyzer()))) {
            for (int i = 0; i < 12000; i++) {
                var d = new Document();
                var text = new StringBuilder();
                for (int k = 0; k < 25; k++) text.append(words[(int) (rnd.nextDouble() * rnd.nextDouble() * words.length)]).append(' ');
                d.add(new TextField("title", words[rnd.nextInt(3000)] + " " + words[rnd.nextInt(3000)], Field.Store.YES));
                d.add(new TextField("text", text.toString(), Field.Store.NO));
                d.add(new StringField("author", "author" + i % 8, Field.Store.YES));
                w.addDocument(d);
            }
            w.forceMerge(1);
        }
        searcher = new IndexSearcher(DirectoryReader.open(dir));
        searcher.setQueryCache(null);
        var f = new JAXRSServerFactoryBean();
        f.setResourceClasses(Library.class);
        f.setProvider(new JacksonJsonProvider());
        f.setAddress("http://127.0.0.1:" + System.getenv("PORT") + "/");
        f.create();
    }
}
