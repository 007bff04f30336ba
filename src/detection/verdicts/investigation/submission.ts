import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { truncateText } from '../../../platform/lib/text/canonical-text.ts';
import { modelAuthorError } from '../../../platform/models/model-error.ts';
import type { Citation, Claim, Submission } from '../verdict.ts';

type Schema = Record<string, unknown>;

/** A question of the plan and the observation that answers it, or that shows that there are no data for it. */
export type PlanAnswer = { question: string; observation: string };
export type SubmissionResult = { submission: Submission; answers: PlanAnswer[] } | { problem: string };
/** The JSON schema of what the model submits, and the function that reads a submission. */
export type SubmissionFormat = { schema: Schema; read: (input: unknown) => SubmissionResult };

const textMax = 8_000;
const problemsMax = 5;

/**
 * Creates the format of submissions: the default verdict, or with an author's schema an object with `verdict` and `output`. Throws a ModelError with
 * blame `author` for a schema that cannot be compiled.
 */
export function createSubmissionFormat(verdictSchema: Schema, authorSchema: Schema | null): SubmissionFormat {
  const options = { strict: false, allErrors: false, validateFormats: false, logger: false } as const;
  // The check of a schema against the schema of schemas takes longer than anything else, and this one is the product's own.
  const ajv = new Ajv({ ...options, validateSchema: false });
  // A verdict without these, or with longer texts, is still a verdict.
  const optional = new Set(['reasoning', 'techniques', 'nextSteps', 'answers']);
  const required = (verdictSchema['required'] as string[]).filter((name) => !optional.has(name));
  const check = ajv.compile(withoutKeywords({ ...verdictSchema, required }, ['maxLength', 'maxItems']));
  if (authorSchema === null) return { schema: verdictSchema, read: (input) => readVerdict(check, input) };
  const output = stripDisplayKeywords(authorSchema);
  const checkOutput = compileAuthorSchema(new Ajv(options), output);
  const schema = {
    type: 'object',
    properties: { verdict: verdictSchema, output },
    required: ['verdict', 'output'],
    additionalProperties: false,
  };
  return { schema, read: (input) => readVerdictAndOutput(check, checkOutput, input) };
}

type SubmittedClaim = { text: string; kind: Claim['kind']; cites?: Record<string, string>[] };
type SubmittedVerdict = Omit<Submission, 'claims' | 'techniques' | 'nextSteps'> & {
  claims: SubmittedClaim[];
  techniques?: string[];
  nextSteps?: string[];
  answers?: PlanAnswer[];
};

function readVerdict(check: ValidateFunction, input: unknown): SubmissionResult {
  if (!check(input)) return { problem: describeErrors(check.errors) };
  const {
    verdict,
    severity,
    confidence,
    headline,
    claims,
    techniques = [],
    nextSteps = [],
    answers = [],
  } = limitSize(input) as SubmittedVerdict;
  const read = claims.map(({ text, kind, cites = [] }) => ({ text, kind, cites: cites.flatMap(readCitation) }));
  return { submission: { verdict, severity, confidence, headline, claims: read, techniques, nextSteps }, answers };
}

/** Returns the citation that the given keys make up. A citation of nothing that code knows is kept, so that it fails to resolve. */
function readCitation(given: Record<string, string>): Citation[] {
  const {
    observation = 'rows',
    rowId,
    field,
    column,
    value = '',
    fact,
    hit,
    note,
    list,
    entry,
    document,
    item,
    quote = '',
  } = given;
  if (rowId !== undefined && field !== undefined) return [{ observation, rowId, field, value }];
  if (column !== undefined) return [{ observation, column, value }];
  if (fact !== undefined) return [{ fact }];
  if (hit !== undefined) return [{ hit }];
  if (note !== undefined) return [{ note }];
  if (list !== undefined) return [{ list, entry: entry ?? '' }];
  if (document !== undefined) return [{ document, quote }];
  if (item !== undefined) return [{ item, quote }];
  return [{ observation, rowId: rowId ?? '', field: field ?? '', value }];
}

function readVerdictAndOutput(
  check: ValidateFunction,
  checkOutput: ValidateFunction,
  input: unknown,
): SubmissionResult {
  const { verdict, output } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>;
  const result = readVerdict(check, verdict);
  if ('problem' in result) return { problem: `verdict: ${result.problem}` };
  return checkOutput(output)
    ? { ...result, submission: { ...result.submission, output: limitSize(output) } }
    : { problem: `output: ${describeErrors(checkOutput.errors)}` };
}
function compileAuthorSchema(ajv: Ajv, schema: Schema): ValidateFunction {
  try {
    // A regular expression from an author could run forever on a model's text. The model sees patterns, but they are not checked.
    return ajv.compile(withoutKeywords(schema, ['pattern', 'patternProperties', '$async']));
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

const withoutKeywords = (schema: Schema, skipped: readonly string[]): Schema =>
  filterKeywords(schema, (keyword) => !skipped.includes(keyword)) as Schema;

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
