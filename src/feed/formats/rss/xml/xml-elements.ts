import type { XmlElement } from './read-xml.ts';

export const childElements = (parent: XmlElement): XmlElement[] =>
  parent.children.filter((child): child is XmlElement => typeof child !== 'string');

/** Returns the children with one of the names in document order. */
export const findChildren = (parent: XmlElement, ...names: string[]): XmlElement[] =>
  childElements(parent).filter(({ name }) => names.includes(name));

/** Returns the text of an element and its descendants. */
export function readElementText(element: XmlElement): string {
  const parts: string[] = [];
  const open: (XmlElement | string)[] = [element];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') parts.push(next);
    else for (const child of next.children.toReversed()) open.push(child);
  }
  return parts.join('');
}

/** Returns the content of an element as HTML without namespace prefixes. */
export function renderContent(element: XmlElement): string {
  const parts: string[] = [];
  const open: (XmlElement | string | { closes: string })[] = element.children.toReversed();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') parts.push(escapeAll(next));
    else if ('closes' in next) parts.push(`</${next.closes}>`);
    else {
      const name = next.name.slice(next.name.indexOf(':') + 1);
      const attributes = Object.entries(next.attributes).filter(([key]) => /^[a-z][a-z0-9-]*$/i.test(key));
      parts.push(`<${name}${attributes.map(([key, value]) => ` ${key}="${escapeAll(value)}"`).join('')}>`);
      open.push({ closes: name });
      for (const child of next.children.toReversed()) open.push(child);
    }
  }
  return parts.join('');
}

export const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const escapeAll = (text: string): string => escapeText(text).replaceAll('>', '&gt;').replaceAll('"', '&quot;');
