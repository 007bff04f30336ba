import { z } from 'zod';
import type { RowView, ToolSources } from './tool-sources.ts';
import type { Tool } from './tool.ts';

const Input = z.strictObject({
  values: z
    .record(z.string().max(100), z.string().max(500))
    .describe("For each name in the address's braces a value; only the entity and whole values of its rows are taken."),
});

/** The address is the administrator's; a model chooses among values that are in the entity's rows already, and adds no byte of its own. */
export const httpGet: Tool<z.infer<typeof Input>> = {
  description: 'Fetches the address that an administrator set for this detection.',
  input: Input,
  effect: 'send',
  run: async ({ values }, { httpGet: granted, entity, rows }, signal) => {
    if (!granted) throw new Error('no administrator set an address for this detection');
    return { body: await granted.get(fillTemplate(granted.template, values, { entity, rows }), signal) };
  },
};

const placeholder = /\{([a-z]\w{0,30})\}/gi;

/** Fills the placeholders, each value escaped. Throws for a value that the entity does not have. */
export function fillTemplate(
  template: string,
  values: Record<string, string>,
  { entity, rows }: Pick<ToolSources, 'entity'> & { rows: readonly RowView[] },
): string {
  return template.replaceAll(placeholder, (_all, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name]! : name === 'entity' ? entity : undefined;
    if (value === undefined) throw new Error(`values.${name} is missing`);
    const isKnown = value === entity || rows.some(({ fields }) => Object.values(fields).includes(value));
    if (!isKnown) throw new Error(`values.${name} is neither the entity nor a whole value of its rows`);
    // A value of dots alone would walk up the path.
    if (/^\.{1,2}$/.test(value)) throw new Error(`values.${name} cannot stand in an address`);
    return encodeURIComponent(value);
  });
}

/** What is wrong with a template; undefined for a good one. Scheme and host are fixed; braces stand in path and query only. */
export function templateProblem(template: string): string | undefined {
  const bare = template.replaceAll(placeholder, 'x');
  if (!URL.canParse(bare) || !/^https?:$/.test(new URL(bare).protocol)) return 'must be an http or https address';
  const url = new URL(bare);
  if (url.username || url.password) return 'must not hold a user name or password';
  const fixed = /^https?:\/\/[^/?#{}]+[/?]/i.exec(template);
  if (!fixed) return 'scheme and host must be fixed and end with a slash';
  return /[{}]/.test(bare) ? 'braces must name a value, as in {entity}' : undefined;
}
