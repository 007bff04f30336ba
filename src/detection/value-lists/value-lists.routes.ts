import { apiRoutes } from '../../platform/http/api-routes.ts';
import type { App } from '../../platform/http/app-type.ts';
import { ValueList, ValueListInput, ValueListPath, ValueLists } from './value-lists.schema.ts';
import { getValueList, getValueLists, putValueList, removeValueList } from './value-lists.ts';

export function valueListRoutes(app: App, deps: Parameters<typeof putValueList>[0]): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:write' });
  route(
    'GET /api/value-lists',
    {
      operationId: 'listValueLists',
      summary: 'List the value lists, by name',
      scope: 'detections:read',
      returns: ValueLists,
    },
    ({ caller }) => getValueLists(deps, caller),
  );
  route(
    'GET /api/value-lists/:name',
    {
      operationId: 'getValueList',
      summary: 'Get a value list with its values',
      scope: 'detections:read',
      params: ValueListPath,
      returns: ValueList,
      hasEtag: true,
    },
    ({ caller, params }) => getValueList(deps, caller, params.name),
  );
  route(
    'PUT /api/value-lists/:name',
    {
      operationId: 'setValueList',
      summary: 'Create or replace a value list',
      params: ValueListPath,
      body: ValueListInput,
      returns: ValueList,
      hasEtag: true,
      acceptsIfMatch: true,
      bodyBytesMax: 8_000_000,
    },
    ({ caller, params, body, ifMatch }) => putValueList(deps, caller, params.name, { ...body, ifMatch }),
  );
  route(
    'DELETE /api/value-lists/:name',
    {
      operationId: 'deleteValueList',
      summary: 'Delete a value list that no detection uses',
      acceptsIfMatch: true,
      params: ValueListPath,
      returns: ValueList,
    },
    ({ caller, params, ifMatch }) => removeValueList(deps, caller, params.name, ifMatch),
  );
}
