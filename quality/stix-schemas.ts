import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { domainToASCII } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Bundle = { objects: { type: string; id: string }[] };

/** Where the schemas refer to each other; some of them name another place as their own. */
const home = 'http://raw.githubusercontent.com/oasis-open/cti-stix2-json-schemas/stix2.1/schemas';
const draft = 'https://json-schema.org/draft/2020-12/schema';

/**
 * What of the JSON schemas of STIX 2.1 a bundle breaks, each object against that of its type and the whole against the bundle's.
 * `checkout` is one of oasis-open/cti-stix2-json-schemas.
 */
export function createSchemaCheck(checkout: string): (bundle: Bundle) => string[] {
  // Their expressions escape what needs no escape, which the Unicode form forbids.
  const ajv = new Ajv2020({ strict: false, validateSchema: false, unicodeRegExp: false });
  (addFormats as unknown as typeof addFormats.default)(ajv);
  ajv.addFormat('idn-hostname', (name: string) => domainToASCII(name) !== '');
  const ids = new Map<string, string>();
  for (const folder of ['common', 'observables', 'sdos', 'sros'])
    for (const file of readdirSync(join(checkout, 'schemas', folder))) {
      const schema = JSON.parse(readFileSync(join(checkout, 'schemas', folder, file), 'utf8')) as object;
      const id = `${home}/${folder}/${file}`;
      // Some name their draft by an address that is none.
      ajv.addSchema({ ...schema, $id: id, $schema: draft });
      ids.set(basename(file, '.json'), id);
    }
  const faultsBy = (type: string, value: unknown): string[] => {
    const id = ids.get(type);
    const validate = id && ajv.getSchema(id);
    if (!validate) return ['has no schema'];
    return validate(value) ? [] : [ajv.errorsText(validate.errors, { dataVar: '' })];
  };
  return (bundle) => [
    ...bundle.objects.flatMap((object) => faultsBy(object.type, object).map((fault) => `${object.id}: ${fault}`)),
    ...faultsBy('bundle', bundle).map(() => 'the bundle breaks its schema'),
  ];
}
