/** A headline template as its literal texts and, between them, the fields of its placeholders: one literal more than fields. */
export type HeadlineTemplate = { literals: string[]; fields: string[] };

const fieldMax = 255;

/**
 * Parses a template such as `Shadow copies deleted on {{host}} by {{user}}`. A placeholder is the name of a field of the rows,
 * dotted for nested ones. Returns the problem of a text that is not a template.
 */
export function parseHeadlineTemplate(text: string): HeadlineTemplate | { problem: string } {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) return { problem: 'must be one line without control characters' };
  const literals: string[] = [];
  const fields: string[] = [];
  let from = 0;
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', from)) {
    const close = text.indexOf('}}', open);
    if (close === -1) return { problem: `has a "{{" at character ${open + 1} without a "}}"` };
    const field = text.slice(open + 2, close).trim();
    if (field === '') return { problem: `has an empty placeholder at character ${open + 1}: write {{field}}` };
    if (/[{}]/.test(field)) return { problem: `has a placeholder with a brace in its name at character ${open + 1}` };
    if (field.length > fieldMax) return { problem: `has a placeholder with more than ${fieldMax} characters` };
    literals.push(text.slice(from, open));
    fields.push(field);
    from = close + 2;
  }
  literals.push(text.slice(from));
  const stray = literals.find((literal) => literal.includes('}}'));
  if (stray !== undefined) return { problem: 'has a "}}" without a "{{" before it' };
  if (!/\p{L}{2}/u.test(literals.join(' '))) return { problem: 'must have words besides its placeholders' };
  return { literals, fields };
}
