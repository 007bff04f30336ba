import { useQuery } from '@tanstack/react-query';
import { sessionQuery } from '../../api/session.ts';
import { scopes } from '../../texts/scopes.ts';
import { texts as all } from '../../texts/settings.ts';
import { Badge, Loaded } from '../../ui/lists/rows.tsx';
import { SettingsSection } from './section.tsx';

const texts = all.organization;

export function OrganizationSection() {
  const query = useQuery(sessionQuery);
  return (
    <SettingsSection title={all.sections.organization} description={texts.description}>
      <Loaded query={query}>
        {({ organization, scopes: granted }) => (
          <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-3 rounded-control border p-3 md:gap-x-8">
            <dt className="text-muted">{texts.name}</dt>
            <dd className="min-w-0 break-words">{organization.name}</dd>
            <dt className="text-muted">{texts.id}</dt>
            <dd className="min-w-0 font-mono text-12 leading-5 break-all select-all">{organization.id}</dd>
            <dt className="text-muted">{texts.access}</dt>
            <dd className="flex min-w-0 flex-wrap gap-1">
              {scopes.every((scope) => granted.includes(scope))
                ? texts.everything
                : granted.map((scope) => <Badge key={scope}>{scope}</Badge>)}
            </dd>
          </dl>
        )}
      </Loaded>
    </SettingsSection>
  );
}
