/** Makes a LangGraph server show the context fields of a graph whose state is a `StateSchema`. */

/** The parts of a graph's builder from which the server reads schemas. */
interface SchemaSource {
  readonly builder: {
    _schemaRuntimeDefinition: unknown;
    _inputRuntimeDefinition: unknown;
    _outputRuntimeDefinition: unknown;
  };
}

/**
 * Gives back `graph`, changed so that `/assistants/{id}/schemas` names its context fields. Server 1.5.1 drops them for
 * every graph that it recognises as a `StateSchema` one (langgraphjs#2466); it recognises one by `getInputJsonSchema`
 * being there. Unrecognised, the graph is read by LangGraph's own functions, which know both. Nothing else asks
 * whether that method is there; calls of it still work.
 */
export function showContextSchema<T extends SchemaSource>(graph: T): T {
  const { builder } = graph;
  builder._schemaRuntimeDefinition = unrecognised(builder._schemaRuntimeDefinition);
  builder._inputRuntimeDefinition = unrecognised(builder._inputRuntimeDefinition);
  builder._outputRuntimeDefinition = unrecognised(builder._outputRuntimeDefinition);
  return graph;
}

function unrecognised(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  return new Proxy(schema, {
    has: (target, key) => key !== "getInputJsonSchema" && Reflect.has(target, key),
  });
}
