import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { truncateText } from '../../../platform/lib/text/canonical-text.ts';
import { modelAuthorError } from '../../../platform/models/model-error.ts';
import type { Verdict } from '../verdict.ts';

type Schema = Record<string, unknown>;
export type SubmissionResult = { verdict: Verdict } | { problem: string };
/** The JSON schema of what the model submits, and the function that validates a submission. */
export type VerdictOutput = { schema: Schema; read: (input: unknown) => SubmissionResult };

const textMax = 8_000;
const problemsMax = 5;

/**
 * Creates the output format: the default verdict, or with an author's schema an object with `verdict` and `output`. Throws a
 * ModelError with blame `author` for a schema that cannot be compiled.
 */
export function createVerdictOutput(verdictSchema: Schema, authorSchema: Schema | null): VerdictOutput {
  const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: false, logger: false });
  // A verdict without reasoning is still a verdict.
  const required = (verdictSchema['required'] as string[]).filter((name) => name !== 'reasoning');
  const base = ajv.compile({ ...verdictSchema, required });
  if (authorSchema === null) return { schema: verdictSchema, read: (input) => readVerdict(base, input) };
  const output = stripDisplayKeywords(authorSchema);
  const check = compileAuthorSchema(ajv, output);
  const schema = {
    type: 'object',
    properties: { verdict: verdictSchema, output },
    required: ['verdict', 'output'],
    additionalProperties: false,
  };
  return { schema, read: (input) => readVerdictAndOutput(base, check, input) };
}

function readVerdict(check: ValidateFunction, input: unknown): SubmissionResult {
  if (!check(input)) return { problem: describeErrors(check.errors) };
  const { reasoning: _, ...verdict } = limitSize(input) as Verdict & { reasoning?: string };
  return { verdict };
}

function readVerdictAndOutput(base: ValidateFunction, check: ValidateFunction, input: unknown): SubmissionResult {
  const { verdict, output } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>;
  const result = readVerdict(base, verdict);
  if ('problem' in result) return { problem: `verdict: ${result.problem}` };
  return check(output)
    ? { verdict: { ...result.verdict, output: limitSize(output) } }
    : { problem: `output: ${describeErrors(check.errors)}` };
}

function compileAuthorSchema(ajv: Ajv, schema: Schema): ValidateFunction {
  try {
    // A regular expression from an author could run forever on a model's text. The model sees patterns, but they are not checked.
    return ajv.compile(withoutPatterns(schema));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw modelAuthorError('bad_output_schema', `structuredOutputSchema cannot be used: ${truncateText(reason, 300)}`);
  }
}

function describeErrors(errors: ErrorObject[] | null | undefined): string {
  return (errors ?? [])
    .slice(0, problemsMax)
    .map(({ instancePath, message, params }) => `${instancePath || 'the value'} ${message} ${JSON.stringify(params)}`)
    .join('; ');
}

const schemaMaps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const valueKeywords = new Set(['enum', 'const', 'default', 'examples']);

/** Returns the schema without keywords that start with `x-`, which are for display only. Properties with such names stay. */
export function stripDisplayKeywords(schema: Schema): Schema {
  return filterKeywords(schema, (keyword) => !keyword.startsWith('x-')) as Schema;
}

function withoutPatterns(schema: Schema): Schema {
  const skipped = new Set(['pattern', 'patternProperties', '$async']);
  return filterKeywords(schema, (keyword) => !skipped.has(keyword)) as Schema;
}

function filterKeywords(value: unknown, keep: (keyword: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => filterKeywords(item, keep));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([keyword]) => keep(keyword))
      .map(([keyword, inner]) => {
        if (valueKeywords.has(keyword)) return [keyword, inner];
        if (!schemaMaps.has(keyword) || typeof inner !== 'object' || inner === null)
          return [keyword, filterKeywords(inner, keep)];
        return [
          keyword,
          Object.fromEntries(Object.entries(inner).map(([name, one]) => [name, filterKeywords(one, keep)])),
        ];
      }),
  );
}

/** Truncates the strings, arrays and objects that a model submits before they are stored. */
function limitSize(value: unknown): unknown {
  if (typeof value === 'string') return truncateText(value, textMax);
  if (Array.isArray(value)) return value.slice(0, 100).map(limitSize);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 100)
      .map(([key, inner]) => [key, limitSize(inner)]),
  );
}
