import { z } from 'zod';
import { findTemplateProblem, placeholder } from '../../platform/lib/outbound-http/url-template.ts';
import { defineTool } from './tool-definition.ts';
import { createResult, toTextRows } from './tool-result.ts';

/** An administrator sets the URL template. Unless the grant says otherwise, the model can fill in only values that it was shown, so it cannot send data of its own. */
export const httpGet = defineTool({
  description: 'Fetches the URL that an administrator set for this detection.',
  input: z.strictObject({
    values: z
      .record(z.string().max(100), z.string().max(500))
      .describe(
        'A value for each placeholder in the URL: the entity, or a complete value from its rows or from an earlier result.',
      ),
  }),
  effect: 'send',
  source: 'outside',
  seesOtherEntities: false,
  findUrlProblem: findTemplateProblem,
  run: async ({ values }, { grant, fetchText, entity, known }, signal) => {
    if (grant?.url === undefined) throw new Error('no administrator set a URL for this detection');
    const url = fillUrlTemplate(grant.url, values, { entity, known: grant.allowsFreeArguments ? undefined : known });
    return createResult({ query: url, rows: toTextRows(await fetchText(url, signal)) });
  },
});

/** Fills the placeholders with escaped values. Throws if a value is missing or is not known. Without `known`, any value is. */
function fillUrlTemplate(
  template: string,
  values: Record<string, string>,
  { entity, known }: { entity: string; known: ReadonlySet<string> | undefined },
): string {
  return template.replaceAll(placeholder, (_all, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name]! : name === 'entity' ? entity : undefined;
    if (value === undefined) throw new Error(`values.${name} is missing`);
    if (known && value !== entity && !known.has(value))
      throw new Error(
        `values.${name} is neither the entity nor a complete value from its rows or from an earlier result`,
      );
    // `.` and `..` would change the path.
    if (/^\.{1,2}$/.test(value)) throw new Error(`values.${name} cannot be used in a URL`);
    return encodeURIComponent(value);
  });
}
