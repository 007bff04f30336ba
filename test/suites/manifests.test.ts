import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { newProgramDir, removeProgramDir, root } from '../support/program.ts';

const folder = join(root, 'deploy');
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

type Manifest = { apiVersion: string; kind: string; metadata: { name: string }; spec?: Record<string, unknown> };

/** Reads the objects of the Kubernetes manifests. The kustomization is read by a tool, not by the cluster. */
function readManifests(): { file: string; manifest: Manifest }[] {
  return readdirSync(join(folder, 'kubernetes'))
    .filter((file) => file !== 'kustomization.yaml')
    .flatMap((file) =>
      parseAllDocuments(read(`kubernetes/${file}`)).map((document) => ({
        file,
        manifest: document.toJS() as Manifest,
      })),
    );
}

/** Compiles the manifests as literals of Kubernetes' types, which also refuses fields that do not exist. Returns the errors of the compiler. */
function compileAsLiterals(manifests: readonly Manifest[]): string {
  // Below the packages, where the compiler finds them.
  const project = mkdtempSync(join(root, 'node_modules/.cache/manifests-'));
  onTestFinished(() => rmSync(project, { recursive: true }));
  const lines = manifests.flatMap((manifest, index) => [
    `import type { I${manifest.kind} as Kind${index} } from 'kubernetes-models/${manifest.apiVersion}';`,
    `export const manifest${index}: Kind${index} = ${JSON.stringify(manifest)};`,
  ]);
  writeFileSync(join(project, 'manifests.ts'), lines.join('\n'));
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--ignoreConfig',
    '--module',
    'nodenext',
    '--target',
    'esnext',
  ];
  return spawnSync(join(root, 'node_modules/.bin/tsc'), [...options, 'manifests.ts'], {
    cwd: project,
    encoding: 'utf8',
  }).stdout;
}

describe('Kubernetes manifests', () => {
  const manifests = readManifests();

  test.each(
    manifests.map(({ file, manifest }) => [`${file}: ${manifest.kind} ${manifest.metadata.name}`, manifest] as const),
  )('%s follows the schema of Kubernetes', async (_name, manifest) => {
    const models = (await import(`kubernetes-models/${manifest.apiVersion}`)) as Record<
      string,
      new (data: Manifest) => { validate: () => void }
    >;
    const Model = models[manifest.kind]!;
    expect(() => new Model(manifest).validate()).not.toThrow();
    expect(() => new Model({ ...manifest, metadata: { name: 1 } } as never).validate()).toThrow(/name/);
  });

  test('have no field that Kubernetes does not know', () => {
    expect(compileAsLiterals(manifests.map(({ manifest }) => manifest))).toBe('');
    const [first] = manifests.filter(({ manifest }) => manifest.kind === 'Deployment');
    const wrong = { ...first!.manifest, spec: { ...first!.manifest.spec, replica: 2 } };
    expect(compileAsLiterals([wrong])).toMatch(/replica.* does not exist/);
  });
});

test.each(['compose.yml', 'compose.scale.yml'])('%s follows the schema of Compose', (file) => {
  // Ajv knows the draft that `$schema` refers to, but not by this address.
  const { $schema: _, ...schema } = JSON.parse(
    readFileSync(join(root, 'node_modules/dclint/schemas/compose.schema.json'), 'utf8'),
  );
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  const project = parse(read(file), { merge: true }) as { services: Record<string, unknown> };
  expect([validate(project), validate.errors]).toEqual([true, null]);
  const [name, service] = Object.entries(project.services)[0]!;
  expect(validate({ ...project, services: { [name]: { ...(service as object), readonly: true } } })).toBe(false);
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
test.runIf(hasSystemd)('the unit is one that systemd accepts', () => {
  const project = newProgramDir();
  onTestFinished(() => removeProgramDir(project));
  // The package is not installed here, and systemd checks that the program of a unit can be run.
  const unit = read('systemd/tocsin.service').replace(
    'ExecStart=/opt/tocsin/node_modules/.bin/node',
    `ExecStart=${process.execPath}`,
  );
  const verify = (text: string): string => {
    writeFileSync(join(project, 'tocsin.service'), text);
    return spawnSync('systemd-analyze', ['verify', '--man=no', join(project, 'tocsin.service')], { encoding: 'utf8' })
      .stderr;
  };
  expect(verify(unit)).toBe('');
  expect(verify(unit.replace('ProtectHome=', 'ProtectHomes='))).toMatch(/Unknown key.*ProtectHomes/);
});
