package parcels;

import graphql.ExecutionResult;
import graphql.analysis.QueryTraverser;
import graphql.analysis.QueryVisitorFieldEnvironment;
import graphql.analysis.QueryVisitorStub;
import graphql.execution.ExecutionContext;
import graphql.execution.instrumentation.ExecutionStrategyInstrumentationContext;
import graphql.execution.instrumentation.InstrumentationContext;
import graphql.execution.instrumentation.InstrumentationState;
import graphql.execution.instrumentation.SimpleInstrumentation;
import graphql.execution.instrumentation.SimpleInstrumentationContext;
import graphql.execution.instrumentation.parameters.InstrumentationCreateStateParameters;
import graphql.execution.instrumentation.parameters.InstrumentationExecuteOperationParameters;
import graphql.execution.instrumentation.parameters.InstrumentationExecutionParameters;
import graphql.execution.instrumentation.parameters.InstrumentationExecutionStrategyParameters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** The timer gql.query, tagged with the operation and the bucket of the query's complexity. */
@Component
public class QueryMetrics extends SimpleInstrumentation {
    private static final int[] BUCKETS = {5, 10, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10000};

    static final class State implements InstrumentationState {
        Timer.Sample sample;
        String operation = "none";
        int complexity;
    }

    private final MeterRegistry registry;
    private final boolean atOperation;

    QueryMetrics(MeterRegistry registry, @Value("${QUERY_COMPLEXITY_AT:strategy}") String at) {
        this.registry = registry;
        this.atOperation = at.equals("operation");
    }

    @Override
    public InstrumentationState createState(InstrumentationCreateStateParameters parameters) {
        return new State();
    }

    @Override
    public InstrumentationContext<ExecutionResult> beginExecution(InstrumentationExecutionParameters parameters) {
        State state = parameters.getInstrumentationState();
        state.sample = Timer.start(registry);
        return new SimpleInstrumentationContext<>();
    }

    @Override
    public InstrumentationContext<ExecutionResult> beginExecuteOperation(InstrumentationExecuteOperationParameters parameters) {
        if (atOperation) {
            describe(parameters.getInstrumentationState(), parameters.getExecutionContext());
        }
        return super.beginExecuteOperation(parameters);
    }

    @Override
    public ExecutionStrategyInstrumentationContext beginExecutionStrategy(InstrumentationExecutionStrategyParameters parameters) {
        if (!atOperation) {
            describe(parameters.getInstrumentationState(), parameters.getExecutionContext());
        }
        return super.beginExecutionStrategy(parameters);
    }

    @Override
    public CompletableFuture<ExecutionResult> instrumentExecutionResult(ExecutionResult result, InstrumentationExecutionParameters parameters) {
        State state = parameters.getInstrumentationState();
        state.sample.stop(Timer.builder("gql.query")
            .tag("gql.operation", state.operation)
            .tag("gql.query.complexity", String.valueOf(state.complexity))
            .tag("outcome", result.getErrors().isEmpty() ? "success" : "failure")
            .register(registry));
        return super.instrumentExecutionResult(result, parameters);
    }

    private void describe(State state, ExecutionContext context) {
        state.operation = context.getOperationDefinition().getOperation().name();
        state.complexity = complexity(context);
        registry.counter("gql.complexity.calculations").increment();
    }

    /** The number of the query's nodes, as MaxQueryComplexityInstrumentation of graphql-java counts it. */
    private static int complexity(ExecutionContext context) {
        QueryTraverser traverser = QueryTraverser.newQueryTraverser()
            .schema(context.getGraphQLSchema())
            .document(context.getDocument())
            .operationName(context.getExecutionInput().getOperationName())
            .variables(context.getVariables())
            .build();
        Map<QueryVisitorFieldEnvironment, Integer> byParent = new HashMap<>();
        traverser.visitPostOrder(new QueryVisitorStub() {
            @Override
            public void visitField(QueryVisitorFieldEnvironment env) {
                int value = 1 + byParent.getOrDefault(env, 0);
                byParent.merge(env.getParentEnvironment(), value, Integer::sum);
            }
        });
        int complexity = byParent.getOrDefault(null, 0);
        for (int bucket : BUCKETS) {
            if (complexity < bucket) {
                return bucket;
            }
        }
        return Integer.MAX_VALUE;
    }
}
