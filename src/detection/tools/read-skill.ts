import { z } from 'zod';
import { defineTool, type SkillText } from './tool-definition.ts';
import { createResult } from './tool-result.ts';

/** How many characters one call returns, in rows of at most as many as any value of a result has. */
const charsMax = 10_000;
const rowCharsMax = 500;
const mainFile = 'SKILL.md';

export const readSkill = defineTool({
  description:
    'Returns the instructions of a skill, which people of the organization wrote for work of this kind. Without a name: the skills of the detection and when to use each. Read one that fits before the work, and follow it.',
  input: z.strictObject({
    name: z.string().min(1).max(64).optional(),
    path: z
      .string()
      .min(1)
      .max(200)
      .default(mainFile)
      .describe('A file that the instructions mention, such as references/fields.md.'),
    offset: z.int().min(0).max(1_000_000).default(0).describe('Where to continue a text that was cut.'),
  }),
  effect: 'read',
  source: 'reference',
  seesOtherEntities: false,
  findUrlProblem: null,
  run: async ({ name, path, offset }, sources) => {
    const skills = await sources.skills();
    const skill = skills.find((one) => one.name === name);
    const names = skills.map((one) => one.name).join(', ') || 'none';
    if (!skill) {
      const rows = skills.map((one) => toRow(one.name, one.description.slice(0, rowCharsMax)));
      return toResult(rows, { note: name === undefined ? undefined : `There is no skill ${name}. Skills: ${names}.` });
    }
    const query = `${skill.name} version ${skill.version}: ${path}`;
    const text = findText(skill, path.replace(/^\.\//, ''));
    if (text === undefined) {
      const files = skill.files.flatMap((file) => (file.text === undefined ? [] : file.path)).join(', ') || 'none';
      return toResult([], { query, note: `The skill has no text file ${path}. Text files: ${files}.` });
    }
    const end = offset + charsMax;
    const isCut = end < text.length;
    return toResult(toTextRows(text.slice(offset, end), offset), {
      query,
      truncated: isCut,
      note: isCut ? `The text goes on. Continue with offset ${end}.` : undefined,
    });
  },
});

const findText = ({ body, files }: SkillText, path: string): string | undefined =>
  path === mainFile ? body : files.find((file) => file.path === path)?.text;

const toRow = (rowId: string, text: string) => ({ rowId, time: null, fields: { text: text.toWellFormed() } });

/** Returns a text as rows of whole lines where they fit. The ID of a row is its offset. */
function toTextRows(text: string, offset: number) {
  const rows: ReturnType<typeof toRow>[] = [];
  for (let start = 0; start < text.length;) {
    const lineEnd = text.lastIndexOf('\n', start + rowCharsMax - 1);
    const isWhole = start + rowCharsMax >= text.length;
    const end = isWhole ? text.length : lineEnd >= start ? lineEnd + 1 : start + rowCharsMax;
    rows.push(toRow(String(offset + start), text.slice(start, end)));
    start = end;
  }
  return rows;
}

/** What a skill says is no evidence, so nothing of it can be cited. */
const toResult = (
  rows: ReturnType<typeof toRow>[],
  more: { query?: string; truncated?: boolean; note?: string | undefined },
) => createResult({ rows, kindOf: () => 'other', ...more });
