import { matching, toLower } from './normalize.ts';
import { defineTypes, customStix, mispAttribute, notedText, plainType } from './indicator-type.ts';

const uuid = matching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, toLower);
const cloudId = { ...plainType, bucket: 'cloudIds', ttlDays: 90, misp: notedText } as const;
const mobileId = { ...plainType, bucket: 'mobileIds' } as const;

/** Accounts and resources of clouds, and mobile apps and devices. */
export const cloudTypes = defineTypes({
  aws_account: {
    ...cloudId,
    example: '123456789012',
    normalize: matching(/^\d{12}$/),
    stix: customStix('aws_account'),
  },
  aws_arn: {
    ...cloudId,
    example: 'arn:aws:iam::123456789012:user/evil',
    normalize: matching(/^arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:\d{0,12}:.+$/),
    stix: customStix('aws_arn'),
  },
  azure_tenant: {
    ...cloudId,
    example: '11111111-2222-4333-8444-555555555555',
    normalize: uuid,
    stix: customStix('azure_tenant'),
  },
  azure_app: {
    ...cloudId,
    example: '66666666-7777-4888-9999-000000000000',
    normalize: uuid,
    stix: customStix('azure_app'),
  },
  gcp_project: {
    ...cloudId,
    example: 'evil-project-1',
    normalize: matching(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/),
    stix: customStix('gcp_project'),
  },
  bucket: {
    ...cloudId,
    example: 'evil-bucket',
    normalize: matching(/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/),
    stix: customStix('bucket'),
  },
  android_package: {
    ...mobileId,
    example: 'com.evil.app',
    normalize: matching(/^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/),
    platform: 'android',
    // OpenCTI.
    stix: { ...customStix('android_package'), readFrom: ['app:id'] },
    misp: mispAttribute('Payload delivery', 'mobile-application-id', { relations: ['android-app appid'] }),
  },
  ios_bundle: {
    ...mobileId,
    example: 'com.evil.ios-app',
    normalize: matching(/^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/),
    platform: 'ios',
    stix: customStix('ios_bundle'),
    misp: { ...mispAttribute('Payload delivery', 'mobile-application-id', { readFrom: [] }), isNoted: true },
  },
  imei: {
    ...mobileId,
    example: '490154203237518',
    normalize: matching(/^\d{15}$/),
    stix: customStix('imei'),
    misp: {
      ...notedText,
      object: {
        name: 'phone',
        relation: 'imei',
        group: 'misc',
        template: 'd7e4fbdd-b551-4862-bddb-a0b470a38509',
        version: '6',
      },
      relations: ['phone imei'],
    },
  },
});
