import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { domainToASCII } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Bundle = { objects: { type: string; id: string }[] };

/** The base URL of references between the schemas. Some schemas state a different `$id`. */
const baseUrl = 'http://raw.githubusercontent.com/oasis-open/cti-stix2-json-schemas/stix2.1/schemas';
const draft = 'https://json-schema.org/draft/2020-12/schema';

/** Returns a check of bundles and their objects against the JSON schemas of STIX 2.1 in a checkout of oasis-open/cti-stix2-json-schemas. */
export function createSchemaCheck(checkout: string): (bundle: Bundle) => string[] {
  // The patterns contain unnecessary escapes, which Unicode mode rejects.
  const ajv = new Ajv2020({ strict: false, validateSchema: false, unicodeRegExp: false });
  (addFormats as unknown as typeof addFormats.default)(ajv);
  ajv.addFormat('idn-hostname', (name: string) => domainToASCII(name) !== '');
  const ids = new Map<string, string>();
  for (const folder of ['common', 'observables', 'sdos', 'sros'])
    for (const file of readdirSync(join(checkout, 'schemas', folder))) {
      const schema = JSON.parse(readFileSync(join(checkout, 'schemas', folder, file), 'utf8')) as object;
      const id = `${baseUrl}/${folder}/${file}`;
      // Some schemas specify an invalid `$schema`.
      ajv.addSchema({ ...schema, $id: id, $schema: draft });
      ids.set(basename(file, '.json'), id);
    }
  const validate = (type: string, value: unknown): string[] => {
    const id = ids.get(type);
    const validator = id && ajv.getSchema(id);
    if (!validator) return ['has no schema'];
    return validator(value) ? [] : [ajv.errorsText(validator.errors, { dataVar: '' })];
  };
  return (bundle) => [
    ...bundle.objects.flatMap((object) => validate(object.type, object).map((error) => `${object.id}: ${error}`)),
    ...validate('bundle', bundle).map(() => 'the bundle does not match its schema'),
  ];
}
