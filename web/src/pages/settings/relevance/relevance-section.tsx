import { useQuery } from '@tanstack/react-query';
import { profileQuery } from '../../../api/relevance.ts';
import { sessionQuery } from '../../../api/session.ts';
import { texts } from '../../../texts/relevance.ts';
import { Loaded } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';
import { ProfileForm } from './profile-form.tsx';
import { Requirements } from './requirements.tsx';

/** The settings that decide what is relevant to the organization. */
export function RelevanceSection() {
  const query = useQuery(profileQuery);
  const { data: session } = useQuery(sessionQuery);
  const mayChange = session?.scopes.includes('feed:write') ?? false;
  return (
    <>
      <SettingsSection title={texts.title} description={texts.description}>
        <Loaded query={query}>
          {(profile) => (
            <>
              {profile.rebuilding && (
                <p role="status" className="text-muted">
                  {texts.rebuilding}
                </p>
              )}
              {session && <ProfileForm key={profile.version} profile={profile} mayChange={mayChange} />}
            </>
          )}
        </Loaded>
      </SettingsSection>
      {query.data && <Requirements profile={query.data} mayChange={mayChange} />}
    </>
  );
}
