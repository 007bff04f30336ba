export const placeholder = /\{([a-z]\w{0,30})\}/gi;

/** Returns the problem with a URL template, or undefined. Placeholders such as `{value}` are allowed in path and query only. */
export function findTemplateProblem(template: string): string | undefined {
  const bare = template.replaceAll(placeholder, 'x');
  if (!URL.canParse(bare) || !/^https?:$/.test(new URL(bare).protocol)) return 'must be an http or https URL';
  const url = new URL(bare);
  if (url.username || url.password) return 'must not contain a user name or password';
  const fixed = /^https?:\/\/[^/?#{}]+[/?]/i.exec(template);
  if (!fixed) return 'must have a fixed scheme and host, followed by a slash';
  return /[{}]/.test(bare) ? 'must have a placeholder name in each pair of braces, as in {entity}' : undefined;
}
