import { apiRoutes } from '../../http/api-routes.ts';
import type { App } from '../../http/app-type.ts';
import { roles, roleScopes } from '../../http/caller.ts';
import { PageQuery } from '../../lib/page-request.ts';
import { ChangePerson, InvitedPerson, NewPerson, Person, PersonList, PersonPath, RoleList } from './sessions.schema.ts';
import { changePerson, invitePerson, listPersons, renewLink, type PersonsDeps } from './persons.ts';

export function personRoutes(app: App, deps: PersonsDeps): void {
  const route = apiRoutes(app, { tag: 'persons', scope: 'keys:admin' });
  route(
    'GET /api/persons',
    {
      operationId: 'listPersons',
      summary: 'List the people of the organization, newest first',
      scope: 'hits:read',
      query: PageQuery,
      returns: PersonList,
    },
    ({ caller, query }) => listPersons(deps, caller, query),
  );
  route(
    'GET /api/roles',
    {
      operationId: 'listRoles',
      summary: 'List the roles of people with their scopes',
      scope: 'hits:read',
      returns: RoleList,
    },
    () => ({ roles: roles.map((role) => ({ role, scopes: [...roleScopes[role]] })) }),
  );
  route(
    'POST /api/persons',
    {
      operationId: 'createPerson',
      summary: 'Invite a person with a role',
      description:
        'The link signs in once, within three days. The caller must have all scopes of the role, without an end.',
      secretField: 'link',
      body: NewPerson,
      returns: InvitedPerson,
    },
    ({ caller, body }) => invitePerson(deps, caller, body),
  );
  route(
    'PATCH /api/persons/:id',
    {
      operationId: 'updatePerson',
      summary: 'Change the role of a person, disable or enable the person',
      params: PersonPath,
      body: ChangePerson,
      returns: Person,
    },
    ({ caller, params, body }) => changePerson(deps, caller, params.id, body),
  );
  route(
    'POST /api/persons/:id/link',
    {
      operationId: 'rotatePersonLink',
      summary: 'Create another link for an invited person, whose earlier link ends',
      secretField: 'link',
      params: PersonPath,
      returns: InvitedPerson,
    },
    ({ caller, params }) => renewLink(deps, caller, params.id),
  );
}
