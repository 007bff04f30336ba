import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { detectionQuery } from '../../../api/detections.ts';
import { texts } from '../../../texts/skills.ts';
import { SettingsSection } from '../section.tsx';

const shownMax = 50;

/** The detections that have a skill. */
export function SkillUsers({ ids }: { ids: readonly string[] }) {
  const shown = ids.slice(0, shownMax);
  const detections = useQueries({ queries: shown.map((id) => detectionQuery(id)) });
  return (
    <SettingsSection
      title={texts.usedByTitle}
      description={ids.length === 0 ? texts.notUsed : texts.usedBy(ids.length)}
    >
      {ids.length > 0 && (
        <ul className="flex flex-col gap-1">
          {shown.map((id, index) => (
            <li key={id}>
              <Link to="/detections/$id" params={{ id }} className="text-accent underline underline-offset-2">
                {detections[index]?.data?.name ?? id}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </SettingsSection>
  );
}
