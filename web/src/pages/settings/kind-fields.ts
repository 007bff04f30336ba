type JsonSchema = {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  anyOf?: JsonSchema[];
  enum?: unknown[];
  items?: JsonSchema;
  default?: unknown;
  description?: string;
  isMain?: boolean;
};

/** A setting of a kind of SIEM, destination or enricher, read from the JSON schema that the API returns for it. */
export type KindField = {
  name: string;
  label: string;
  hint: string | undefined;
  isRequired: boolean;
  /** Whether the form shows an optional setting beside the required ones. */
  isMain: boolean;
  /** A text of several lines, such as a certificate. */
  isLong: boolean;
  isNumber: boolean;
  /** Several texts, separated by commas, or several of the options. */
  isList: boolean;
  default: string;
  options: readonly string[] | undefined;
};

/** Turns an API name such as `caCertificate` into words: `CA certificate`. */
function toLabel(name: string): string {
  const words = name.replace(/([A-Z])/g, ' $1').toLowerCase();
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return text.replace(/\b(url|api|id|ca|tls)\b/gi, (word) => word.toUpperCase());
}

/** Reads the fields of a JSON schema. Objects, such as the setting `datasets`, have forms of their own. */
export function readFields(schema: unknown): KindField[] {
  const { properties = {}, required = [] } = schema as JsonSchema;
  const plain = Object.entries(properties).filter(([, { type }]) => type !== 'object');
  return plain.map(([name, field]) => ({
    name,
    label: toLabel(name),
    hint: field.description,
    isRequired: required.includes(name) && field.default === undefined,
    isMain: field.isMain === true,
    isLong: /certificate/i.test(name),
    isNumber: field.type === 'integer' || field.type === 'number',
    isList: field.type === 'array',
    default: field.default === undefined ? '' : String(field.default),
    options: (field.enum ?? field.items?.enum)?.map(String),
  }));
}

/** The ways to sign in: one, or several of which one is chosen. */
export const readVariants = (schema: unknown): { label: string; fields: KindField[] }[] => {
  const { anyOf } = schema as JsonSchema;
  return (anyOf ?? [schema]).map((variant) => {
    const fields = readFields(variant);
    return { label: fields.map(({ label }) => label).join(', '), fields };
  });
};

/** Splits a text at its commas. Empty parts are left out. */
export const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** The values as the API wants them. Empty ones are left out. */
export const toValues = (fields: readonly KindField[], values: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    fields.flatMap(({ name, isNumber, isList }) => {
      const value = values[name]?.trim() ?? '';
      if (value === '') return [];
      return [[name, isList ? splitList(value) : isNumber ? Number(value) : value]];
    }),
  );

/** The values that are stored as texts of a form. */
export const toTexts = (values: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value ?? '')]));
