import { isObject } from '../../lib/json/json-values.ts';
import type { JsonSchema, OpenApiDocument } from './openapi-document.ts';

/**
 * Rewrites what tools for OpenAPI read poorly: texts of query and path that stand for numbers and booleans, and objects with a fixed set of
 * keys. Removes the slash at the end of paths, which the service ignores. Sorts the schemas, whose order depends on which module loads first.
 */
export function simplifySchemas(document: OpenApiDocument): void {
  for (const path of Object.values(document.paths))
    for (const { parameters = [] } of Object.values(path))
      for (const parameter of parameters) if ('schema' in parameter) parameter.schema = toPlainType(parameter.schema);
  document.paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => [path.replace(/\/$/, ''), item]),
  );
  listFixedKeys(document);
  const { components } = document;
  const names = Object.keys(components.schemas).toSorted();
  components.schemas = Object.fromEntries(names.map((name) => [name, components.schemas[name]!]));
}

/** The parameter is text to the service, which checks its form, but a number or boolean to the caller. */
function toPlainType(schema: JsonSchema): JsonSchema {
  const { pattern: _, ...rest } = schema;
  if (schema['type'] === 'integer') return rest;
  const { type: _type, enum: values, const: only, ...others } = schema;
  const texts = Array.isArray(values) ? values : [only];
  return texts.every((text) => text === 'true' || text === 'false') ? { type: 'boolean', ...others } : schema;
}

/** Lists the keys of objects whose keys are a set of names: as properties instead of by a schema of their names. */
function listFixedKeys(node: unknown): void {
  if (Array.isArray(node)) return node.forEach(listFixedKeys);
  if (!isObject(node)) return;
  const names = isObject(node['propertyNames']) ? node['propertyNames']['enum'] : undefined;
  if (Array.isArray(names) && Array.isArray(node['required'])) {
    const value = node['additionalProperties'];
    node['properties'] = Object.fromEntries(names.map((name) => [name, value]));
    node['additionalProperties'] = false;
    delete node['propertyNames'];
  }
  Object.values(node).forEach(listFixedKeys);
}

/** Removes components that nothing uses. The registry also lists input variants of schemas that only responses use, and what only these refer to. */
export function removeUnused(document: OpenApiDocument, kind: 'schemas' | 'responses'): void {
  const components = document.components[kind] ?? {};
  for (let isDone = false; !isDone;) {
    const text = JSON.stringify(document);
    const unused = Object.keys(components).filter((name) => !text.includes(`"#/components/${kind}/${name}"`));
    for (const name of unused) delete components[name];
    isDone = unused.length === 0;
  }
}
