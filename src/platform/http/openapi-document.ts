/** The parts of an OpenAPI document that the service completes. Schemas are JSON Schema, whose keywords are not typed here. */
export type JsonSchema = { [keyword: string]: unknown };

export type MediaType = { schema?: JsonSchema; example?: unknown };

export type Operation = {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: object[];
  parameters?: (
    | { $ref: string }
    | { name: string; in: string; required?: boolean; schema: JsonSchema; example?: unknown }
  )[];
  requestBody?: { required?: boolean; content: Record<string, MediaType> };
  responses: Record<string, { $ref: string } | { description: string; content?: Record<string, MediaType> }>;
};

export type OpenApiDocument = {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses?: Record<string, unknown>;
    parameters?: Record<string, unknown>;
  };
  webhooks?: Record<string, unknown>;
};

/** A request and its response as the service answered it, with long lists cut. */
export type ApiExample = { parameters?: Record<string, string>; request?: unknown; response: unknown };

/** Examples by the ID of the operation. */
export type ApiExamples = Record<string, ApiExample>;
