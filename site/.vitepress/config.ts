import { readFileSync, readdirSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { defineConfig } from 'vitepress';

const docs = resolve(import.meta.dirname, '../../docs');
/** Where the repository's files are, such as `https://github.com/OWNER/REPOSITORY/blob/COMMIT`. */
const source = process.env['SOURCE_URL'];

type Link = { text: string; link: string };

/** The sections of the index with their pages, so that nothing is listed twice. */
function readSidebar(): { text: string; items: Link[] }[] {
  const [, ...sections] = readFileSync(resolve(docs, 'README.md'), 'utf8').split('\n## ');
  const decisions = readdirSync(resolve(docs, 'adr')).map((name) => ({
    text: titleOf(`adr/${name}`),
    link: `/adr/${name}`,
  }));
  return [
    ...sections.map((section) => ({
      text: section.split('\n')[0]!,
      items: [...section.matchAll(/\]\(([\w/-]+\.md)\)/g)].map(([, path]) => ({
        text: titleOf(path!),
        link: `/${path}`,
      })),
    })),
    { text: 'Decisions', items: decisions },
  ];
}

const titleOf = (path: string): string => /^# (.+)$/m.exec(readFileSync(resolve(docs, path), 'utf8'))![1]!;

/** Returns the path in the repository of a link that does not lead to a page of `docs`, or undefined. */
function pathOutside(page: string, href: string): string | undefined {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return undefined;
  const path = posix.join('docs', posix.dirname(page), href);
  return /^docs\/.+\.md(?:#|$)/.test(path) ? undefined : path;
}

export default defineConfig({
  title: 'Tocsin',
  description: 'Runs detection agents over your logs and fills a threat-intelligence feed beside them.',
  // A copy that the build makes: pages outside of this folder would not find its packages.
  srcDir: 'docs',
  base: process.env['SITE_BASE'] ?? '/',
  cleanUrls: true,
  rewrites: { 'README.md': 'index.md' },
  // Without an address, links to files of the repository lead nowhere.
  ignoreDeadLinks: source === undefined,
  markdown: {
    config: (md) => {
      // Braces in code are text and not an expression of Vue.
      const renderCode = md.renderer.rules.code_inline!;
      md.renderer.rules.code_inline = (tokens, index, ...rest) => {
        tokens[index]!.attrSet('v-pre', '');
        return renderCode(tokens, index, ...rest);
      };
      md.core.ruler.push('links-outside', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const outside = token.type === 'link_open' && pathOutside(env.relativePath, token.attrGet('href') ?? '');
          if (outside && source !== undefined) token.attrSet('href', `${source}/${outside}`);
        }
      });
    },
  },
  themeConfig: {
    sidebar: readSidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
  },
});
