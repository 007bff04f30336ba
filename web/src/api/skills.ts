import { queryOptions } from '@tanstack/react-query';
import { basePath } from '../lib/base-path.ts';
import { api, read, type Schemas } from './client.ts';
import { sendIfMatch } from './versions.ts';

export type Skill = Schemas['Skill'];

export const skillsQuery = queryOptions({
  queryKey: ['skills', 'list'],
  queryFn: async () => (await read(api.GET('/api/skills'))).skills,
});

/** A version of a skill. Undefined: the current one. */
export const skillQuery = (name: string, version: number | undefined) =>
  queryOptions({
    queryKey: ['skills', 'one', name, version],
    queryFn: () =>
      version === undefined
        ? read(api.GET('/api/skills/{name}', { params: { path: { name } } }))
        : read(api.GET('/api/skills/{name}/versions/{version}', { params: { path: { name, version } } })),
  });

export const skillVersionsQuery = (name: string) =>
  queryOptions({
    queryKey: ['skills', 'versions', name],
    queryFn: async () => (await read(api.GET('/api/skills/{name}/versions', { params: { path: { name } } }))).versions,
  });

export const importSkill = (archive: File) =>
  read(
    api.POST('/api/skills/import', {
      body: archive as never,
      bodySerializer: (body) => body as never,
      headers: { 'content-type': 'application/zip' },
    }),
  );

/** Makes the content of an older version the newest one. */
export const restoreSkill = (
  { description, license, compatibility, metadata, allowedTools, body, files }: Skill,
  current: Skill,
) =>
  sendIfMatch(current, (header) =>
    read(
      api.PUT('/api/skills/{name}', {
        params: { path: { name: current.name }, header },
        body: { description, license, compatibility, metadata, allowedTools, body, files },
      }),
    ),
  );

export const deleteSkill = (skill: Skill) =>
  sendIfMatch(skill, (header) =>
    read(api.DELETE('/api/skills/{name}', { params: { path: { name: skill.name }, header } })),
  );

/** The address of a skill's archive. */
export const skillArchiveUrl = (name: string): string => `${basePath}/api/skills/${name}/export`;
