import type { XmlElement } from './read-xml.ts';

export const childElements = (parent: XmlElement): XmlElement[] =>
  parent.children.filter((child): child is XmlElement => typeof child !== 'string');

/** Children of one of the names, in the order of the document. */
export const findChildren = (parent: XmlElement, ...names: string[]): XmlElement[] =>
  childElements(parent).filter(({ name }) => names.includes(name));

/** The text of an element and everything in it. */
export function readElementText(element: XmlElement): string {
  const parts: string[] = [];
  const open: (XmlElement | string)[] = [element];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') parts.push(next);
    else for (const child of next.children.toReversed()) open.push(child);
  }
  return parts.join('');
}

/** The content of an element as HTML: its elements written out again under their bare names. */
export function renderContent(element: XmlElement): string {
  const parts: string[] = [];
  type Open = XmlElement | string | { closes: string };
  const open: Open[] = element.children.toReversed();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') parts.push(escaped(next));
    else if ('closes' in next) parts.push(`</${next.closes}>`);
    else {
      const name = next.name.slice(next.name.indexOf(':') + 1);
      const attributes = Object.entries(next.attributes).filter(([key]) => /^[a-z][a-z0-9-]*$/i.test(key));
      parts.push(`<${name}${attributes.map(([key, value]) => ` ${key}="${escaped(value)}"`).join('')}>`);
      open.push({ closes: name });
      for (const child of next.children.toReversed()) open.push(child);
    }
  }
  return parts.join('');
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
