import { z } from 'zod';
import type { ToolSources, ToolDefinition } from './tool-definition.ts';

const Input = z.strictObject({
  values: z
    .record(z.string().max(100), z.string().max(500))
    .describe(
      'A value for each placeholder in the URL. Only the entity and complete values from its rows are accepted.',
    ),
});

/** The administrator sets the URL template. The model can fill in only values from the entity's rows, so it cannot send data of its own. */
export const httpGet: ToolDefinition<z.infer<typeof Input>> = {
  description: 'Fetches the URL that an administrator set for this detection.',
  input: Input,
  effect: 'send',
  origin: 'outside',
  run: async ({ values }, { httpGet: grant, entity, rows }, signal) => {
    if (!grant) throw new Error('no administrator set a URL for this detection');
    return { body: await grant.get(fillUrlTemplate(grant.template, values, { entity, rows }), signal) };
  },
};

const placeholder = /\{([a-z]\w{0,30})\}/gi;

/** Fills the placeholders with escaped values. Throws if a value is missing or is not a value of the entity. */
export function fillUrlTemplate(
  template: string,
  values: Record<string, string>,
  { entity, rows }: Pick<ToolSources, 'entity' | 'rows'>,
): string {
  return template.replaceAll(placeholder, (_all, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name]! : name === 'entity' ? entity : undefined;
    if (value === undefined) throw new Error(`values.${name} is missing`);
    const isKnown = value === entity || rows.some(({ fields }) => Object.values(fields).includes(value));
    if (!isKnown) throw new Error(`values.${name} is neither the entity nor a complete value from its rows`);
    // `.` and `..` would change the path.
    if (/^\.{1,2}$/.test(value)) throw new Error(`values.${name} cannot be used in a URL`);
    return encodeURIComponent(value);
  });
}

/** Returns the problem with a URL template, or undefined. Placeholders are allowed in path and query only. */
export function findTemplateProblem(template: string): string | undefined {
  const bare = template.replaceAll(placeholder, 'x');
  if (!URL.canParse(bare) || !/^https?:$/.test(new URL(bare).protocol)) return 'must be an http or https URL';
  const url = new URL(bare);
  if (url.username || url.password) return 'must not contain a user name or password';
  const fixed = /^https?:\/\/[^/?#{}]+[/?]/i.exec(template);
  if (!fixed) return 'must have a fixed scheme and host, followed by a slash';
  return /[{}]/.test(bare) ? 'must have a placeholder name in each pair of braces, as in {entity}' : undefined;
}
