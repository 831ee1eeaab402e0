package quotes;

import java.util.*;
import org.noear.solon.Solon;
import org.noear.solon.annotation.*;

// Quotes for insurance: a table of payments for each term, computed on request.
@Controller
public class App {
    public static class Line {
        public int month;
        public double paid, interest, rest;

        Line(int month, double paid, double interest, double rest) {
            this.month = month;
            this.paid = paid;
            this.interest = interest;
            this.rest = rest;
        }
    }

    public static void main(String[] args) {
        Solon.start(App.class, args);
    }

    static List<Line> table(double sum, double rate, int months) {
        double pay = sum * rate / (1 - Math.pow(1 + rate, -months)), rest = sum;
        List<Line> lines = new ArrayList<>();
        for (int m = 1; m <= months; m++) {
            double interest = rest * rate;
            rest -= pay - interest;
            lines.add(new Line(m, Math.round(pay * 100) / 100.0, Math.round(interest * 100) / 100.0, Math.round(rest * 100) / 100.0));
        }
        return lines;
    }

    @Mapping("/")
    public String home() {
        return "quotes";
    }

    @Mapping("/quote")
    public Map<String, Object> quote(@Param("sum") int sum, @Param("years") int years) {
        Map<String, Object> all = new TreeMap<>();
        for (int bp = 200; bp <= 500; bp += 50) {
            all.put("rate " + bp, table(sum * 1000.0, bp / 120000.0, years * 12));
        }
        return all;
    }
}
