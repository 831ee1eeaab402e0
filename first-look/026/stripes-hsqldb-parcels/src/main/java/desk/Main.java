package desk;

import java.io.File;
import net.sourceforge.stripes.controller.DispatcherServlet;
import net.sourceforge.stripes.controller.StripesFilter;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/** Parcel desk: where a parcel is, and what a depot holds. */
public class Main {
    public static void main(String[] args) throws Exception {
        Store.open();
        String base = System.getenv("BASE");
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(base);

        // server.xml's <Connector protocol="..." maxThreads="6" .../>
        Connector connector = new Connector(System.getenv("CONNECTOR_PROTOCOL"));
        connector.setPort(Integer.parseInt(System.getenv("PORT")));
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", System.getenv("MAX_THREADS"));
        connector.setProperty("minSpareThreads", System.getenv("MAX_THREADS"));
        connector.setProperty("maxConnections", "400");
        connector.setProperty("acceptCount", "100");
        connector.setProperty("keepAliveTimeout", "15000");
        connector.setProperty("maxKeepAliveRequests", "-1");
        connector.setProperty("disableKeepAlivePercentage", "100"); // the blocking connector's: keep, even when busy
        tomcat.getService().addConnector(connector);
        tomcat.setConnector(connector);

        Context context = tomcat.addContext("", new File(base).getAbsolutePath());
        FilterDef filter = new FilterDef();
        filter.setFilterName("StripesFilter");
        filter.setFilterClass(StripesFilter.class.getName());
        filter.addInitParameter("ActionResolver.Packages", "desk.action");
        context.addFilterDef(filter);
        FilterMap map = new FilterMap();
        map.setFilterName("StripesFilter");
        map.addServletName("StripesDispatcher");
        context.addFilterMap(map);
        Wrapper dispatcher = Tomcat.addServlet(context, "StripesDispatcher", DispatcherServlet.class.getName());
        dispatcher.setLoadOnStartup(1);
        for (String path : new String[] {"/parcels/*", "/depots/*", "/health/*"}) {
            dispatcher.addMapping(path);
        }
        tomcat.start();
        tomcat.getServer().await();
    }
}
