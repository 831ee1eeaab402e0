import { IsInt, IsString, Min } from 'class-validator'
import { Body, ContentType, Get, JsonController, Controller, NotFoundError, OnUndefined, Param, Post } from 'routing-controllers'
import { parcels, Parcel } from './parcels'
import { addressOnly, render } from './renderers'

function find (id: number): Parcel {
  const parcel = parcels.get(id)
  if (!parcel) throw new NotFoundError(`parcel ${id}`)
  return parcel
}

class Weighing {
  @IsInt() @Min(1)
  grams!: number

  @IsString()
  scale!: string
}

@JsonController('/parcels')
export class ParcelController {
  @Get('/:id')
  one (@Param('id') id: number) {
    return find(id)
  }

  @Post('/:id/weighings')
  weigh (@Param('id') id: number, @Body() weighing: Weighing) {
    const parcel = find(id)
    parcel.weight = weighing.grams
    return { id, grams: parcel.weight, scale: weighing.scale }
  }
}

@Controller('/labels')
export class LabelController {
  @Get('/:id')
  @ContentType('image/svg+xml')
  label (@Param('id') id: number) {
    const parcel = find(id)
    // the post prints its own code when it takes the parcel over
    return parcel.carrier === 'post' ? addressOnly(parcel) : render(parcel)
  }
}

@Controller('/health')
export class HealthController {
  @Get('/')
  ok () {
    return 'ok'
  }
}
