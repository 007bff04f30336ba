/** Values for `%name%` in fields with the modifier `expand`, by name. */
export type Placeholders = Readonly<Record<string, readonly string[]>>;

const pattern = /%([A-Za-z0-9_.-]+)%/g;

/** Returns the texts that result from replacing each `%name%` by each of its values. Throws an Error for a name without values. */
export function expandPlaceholders(text: string, placeholders: Placeholders): string[] {
  let texts = [text];
  for (const name of new Set([...text.matchAll(pattern)].map((match) => match[1]!))) {
    const values = Object.hasOwn(placeholders, name) ? placeholders[name]! : undefined;
    if (!values)
      throw new Error(`the placeholder %${name}% has no values. Define it under \`placeholders\` in a mapping`);
    texts = texts.flatMap((one) => values.map((value) => one.replaceAll(`%${name}%`, value)));
  }
  return texts;
}
