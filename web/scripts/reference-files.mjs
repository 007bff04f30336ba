import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';

const web = join(import.meta.dirname, '..');

/** Returns the files of the API reference: its page and the script of Scalar, which the package has only inside of its plugin. */
async function readReferenceFiles() {
  const app = fastify();
  await app.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { payload: script } = await app.inject('/docs/js/scalar.js');
  const read = (path) => readFileSync(join(web, path), 'utf8');
  return {
    'scalar.js': script.replace(/\n\/\/# sourceMappingURL=.*\s*$/, ''),
    'icon.svg': read('src/icon.svg'),
    ...Object.fromEntries(
      ['index.html', 'reference.js', 'reference.css'].map((name) => [name, read(`reference/${name}`)]),
    ),
  };
}

/** Adds the files to the build, below `reference/`. The service serves them at `/docs`. */
export const referenceFiles = {
  name: 'reference-files',
  apply: 'build',
  async generateBundle() {
    for (const [name, source] of Object.entries(await readReferenceFiles()))
      this.emitFile({ type: 'asset', fileName: `reference/${name}`, source });
  },
};
