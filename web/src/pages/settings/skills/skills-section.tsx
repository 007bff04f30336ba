import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { useRef } from 'react';
import { importSkill, skillsQuery } from '../../../api/skills.ts';
import { texts as settings } from '../../../texts/settings.ts';
import { texts } from '../../../texts/skills.ts';
import { Button } from '../../../ui/button.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { Badge, Loaded, Row, Rows } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';

/** The skills that detections can have. */
export function SkillsSection() {
  const query = useQuery(skillsQuery);
  return (
    <SettingsSection title={settings.sections.skills} description={texts.description} action={<ImportButton />}>
      <Loaded query={query}>
        {(skills) => (
          <Rows label={settings.sections.skills}>
            {skills.map(({ name, description, source, version, replacesShipped, usedBy }) => (
              <Row
                key={name}
                title={
                  <Link to="/settings/skills/$name" params={{ name }} className="hover:underline">
                    {name}
                  </Link>
                }
                badge={
                  <>
                    {source === 'shipped' && <Badge>{texts.shipped}</Badge>}
                    {replacesShipped && <Badge>{texts.changedShipped}</Badge>}
                  </>
                }
                detail={
                  <>
                    {description}
                    <span className="block pt-1">
                      {source !== 'shipped' && `${texts.version(version)} · `}
                      {texts.usedBy(usedBy.length)}
                    </span>
                  </>
                }
                actions={
                  <Link
                    to="/settings/skills/$name"
                    params={{ name }}
                    aria-label={name}
                    tabIndex={-1}
                    className="text-faint"
                  >
                    <ChevronRight className="size-4" aria-hidden />
                  </Link>
                }
              />
            ))}
          </Rows>
        )}
      </Loaded>
    </SettingsSection>
  );
}

function ImportButton() {
  const input = useRef<HTMLInputElement>(null);
  const store = useChange({
    change: importSkill,
    refresh: [['skills']],
    done: ({ name }) => texts.imported(name),
    failed: texts.notImported,
  });
  return (
    <>
      <input
        ref={input}
        type="file"
        accept=".zip,application/zip"
        aria-label={texts.import}
        tabIndex={-1}
        className="sr-only"
        onChange={({ target }) => {
          const [archive] = target.files ?? [];
          if (archive) store.mutate(archive);
          // The same file can be chosen again.
          target.value = '';
        }}
      />
      <Button kind="primary" disabled={store.isPending} onClick={() => input.current?.click()}>
        {texts.import}
      </Button>
    </>
  );
}
