/** A request and its response as the service answered it, with long lists cut. */
export type ApiExample = { parameters?: Record<string, string>; request?: unknown; response: unknown };

/** Examples by the ID of the operation. */
export type ApiExamples = Record<string, ApiExample>;
