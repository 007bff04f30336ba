import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { cutText } from '../../../platform/lib/text/canonical-text.ts';
import { authorError } from '../../../platform/models/model-error.ts';
import type { Verdict } from '../verdict.ts';

type Schema = Record<string, unknown>;
export type Submitted = { verdict: Verdict } | { problem: string };
/** What the model has to submit, and how to read it. */
export type VerdictOutput = { schema: Schema; read: (input: unknown) => Submitted };

const textMax = 8_000;
const problemsMax = 5;

/**
 * The default verdict, or, where the author has a schema of their own, both: `verdict` for the service, `output` as the author
 * wants it. Throws an author's ModelError for a schema that cannot be compiled.
 */
export function verdictOutput(verdictSchema: Schema, own: Schema | null): VerdictOutput {
  const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: false, logger: false });
  const base = ajv.compile(verdictSchema);
  if (own === null) return { schema: verdictSchema, read: (input) => submitted(base, input) };
  const output = forModel(own);
  const check = compiled(ajv, output);
  const schema = {
    type: 'object',
    properties: { verdict: verdictSchema, output },
    required: ['verdict', 'output'],
    additionalProperties: false,
  };
  return { schema, read: (input) => submittedBoth(base, check, input) };
}

function submitted(check: ValidateFunction, input: unknown): Submitted {
  return check(input) ? { verdict: bounded(input) as Verdict } : { problem: problemOf(check.errors) };
}

function submittedBoth(base: ValidateFunction, check: ValidateFunction, input: unknown): Submitted {
  const { verdict, output } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>;
  const read = submitted(base, verdict);
  if ('problem' in read) return { problem: `verdict: ${read.problem}` };
  return check(output)
    ? { verdict: { ...read.verdict, output: bounded(output) } }
    : { problem: `output: ${problemOf(check.errors)}` };
}

function compiled(ajv: Ajv, schema: Schema): ValidateFunction {
  try {
    // An author's expression could take for ever on a model's text: the model is told of it, nobody runs it.
    return ajv.compile(withoutPatterns(schema));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw authorError('bad_output_schema', `structuredOutputSchema cannot be used: ${cutText(why, 300)}`);
  }
}

function problemOf(errors: ErrorObject[] | null | undefined): string {
  return (errors ?? [])
    .slice(0, problemsMax)
    .map(({ instancePath, message, params }) => `${instancePath || 'it'} ${message} ${JSON.stringify(params)}`)
    .join('; ');
}

const maps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const values = new Set(['enum', 'const', 'default', 'examples']);

/** The schema without the keywords that begin with `x-`: they are for display. A property may be called so. */
export function forModel(schema: Schema): Schema {
  return rewrite(schema, (keyword) => !keyword.startsWith('x-')) as Schema;
}

function withoutPatterns(schema: Schema): Schema {
  const left = new Set(['pattern', 'patternProperties', '$async']);
  return rewrite(schema, (keyword) => !left.has(keyword)) as Schema;
}

function rewrite(value: unknown, keeps: (keyword: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, keeps));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([keyword]) => keeps(keyword))
      .map(([keyword, inner]) => {
        if (values.has(keyword)) return [keyword, inner];
        if (!maps.has(keyword) || typeof inner !== 'object' || inner === null) return [keyword, rewrite(inner, keeps)];
        return [keyword, Object.fromEntries(Object.entries(inner).map(([name, one]) => [name, rewrite(one, keeps)]))];
      }),
  );
}

/** A model's words go into rows of ours: each is cut, and a list has an end. */
function bounded(value: unknown): unknown {
  if (typeof value === 'string') return cutText(value, textMax);
  if (Array.isArray(value)) return value.slice(0, 100).map(bounded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 100)
      .map(([key, inner]) => [key, bounded(inner)]),
  );
}
